"""Who is it, what may they do, how often: access, credentials, limits, headers."""
