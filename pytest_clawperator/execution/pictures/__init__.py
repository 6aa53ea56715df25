"""Pictures of the screen: of which display, how one is taken, and where those without a path go."""
