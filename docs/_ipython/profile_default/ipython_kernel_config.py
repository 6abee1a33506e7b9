"""Kernels that run the examples of the documentation speak up for errors only."""

c = get_config()  # noqa: F821
c.IPKernelApp.log_level = "ERROR"
