"""The phone's shell, as adb clients use it.

``language/`` parses and expands scripts, ``builtins`` holds the commands that are part of the
shell, ``tools/`` the small programs of the system image. The modules here run parsed scripts
(``runner``), keep a shell's state (``shell``) and connect it to adb's shell services (``service``).
The supported syntax and commands are what adb clients and testers send; everything else ends in
a syntax error or in "inaccessible or not found".
"""
