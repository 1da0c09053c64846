"""What drives the stages: `local` in one process. Stages do not know which runtime they are in."""
