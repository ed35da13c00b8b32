"""Aerial worlds: generated towns painted from above, imported GeoTIFFs with their vectors, and satellite views of outdoor worlds."""
