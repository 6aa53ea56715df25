"""What apps and Android do: the actions of app files, navigation, links, permissions, crashes."""
