"""The page that shows the rack: one file, which asks this service and nobody else."""
