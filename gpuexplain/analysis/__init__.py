"""One question a file: a frame of points in, a finding out; nothing measured, nothing drawn."""
