"""Glossary: every term of the pages, defined once."""

from gpuexplain.ui.glossary import show_glossary

show_glossary()
