"""Lock files: the folder that all users of a machine share, and the files in it.

Other users can write to the folder, so nothing in it is taken on trust: the folder must be one
in which nobody can replace the files of others, a lock file must be a plain file, and contents
are data that may be wrong.
"""
