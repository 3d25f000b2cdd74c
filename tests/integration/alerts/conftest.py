from tests.support.prometheus import binaries

__all__ = ["binaries"]
