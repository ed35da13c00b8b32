"""grids."""
