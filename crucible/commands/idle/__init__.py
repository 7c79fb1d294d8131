"""What happens to running sessions without anybody saying so: they are quiet for long, and are paused."""
