"""Pictures of the screen: windows drawn as a person knows them from a phone."""
