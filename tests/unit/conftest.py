from hypothesis import settings

# A slow machine is no reason for a law to fail; every test still ends (pytest-timeout).
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
