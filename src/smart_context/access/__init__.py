"""Who may see what: roots and every confined path, rates, the audit log."""
