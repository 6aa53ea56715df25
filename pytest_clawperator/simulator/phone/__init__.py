"""One whole phone: Android, the Operator and a shell, put together and served to adb."""
