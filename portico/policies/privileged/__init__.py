"""policies/privileged."""
