"""Security: access rules, authentication, rate limits, headers."""
