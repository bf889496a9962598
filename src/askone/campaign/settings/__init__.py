"""Settings of a campaign, from TOML or JSON, checked."""
