"""The checks of `cru doctor`."""
