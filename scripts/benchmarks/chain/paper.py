"""Figures of the paper: Sumner and Zhang, "Automatic Failure Inducing Chain Computation through Aligned Execution Comparison"."""

# Table 2: program, failing executions without a critical predicate, all failing executions.
TABLE_2 = [
    ("tcas", 126, 1536),
    ("replace", 982, 3267),
    ("print_tokens", 113, 484),
    ("print_tokens2", 560, 2064),
    ("schedule", 130, 799),
    ("schedule2", 61, 316),
]

# Table 3: program, half, tests, length of the ideal and the approximate chain, coverage and relevance in %, edit distance, roots.
TABLE_3 = [
    ("schedule", "best", 14, 2.5, 3.5, 100.00, 78.21, 1.0, 14),
    ("schedule", "worst", 14, 13.71, 8.71, 45.29, 48.59, 12.5, 1),
    ("schedule2", "best", 14, 4.64, 6.36, 98.21, 79.86, 0.38, 13),
    ("schedule2", "worst", 14, 11.21, 7.21, 30.73, 60.73, 9.0, 0),
    ("print_tokens", "best", 12, 4.42, 4.42, 100.00, 100.00, 0.0, 12),
    ("print_tokens", "worst", 12, 4.0, 10.0, 97.22, 93.66, 6.17, 11),
    ("print_tokens2", "best", 16, 12.56, 15.94, 98.68, 72.59, 4.63, 14),
    ("print_tokens2", "worst", 16, 12.19, 13.44, 62.80, 69.34, 8.5, 0),
    ("replace", "best", 19, 12.0, 15.95, 93.36, 68.56, 5.74, 9),
    ("replace", "worst", 19, 102.26, 8.73, 33.43, 70.45, 95.52, 0),
    ("tcas", "best", 20, 6.8, 7.0, 84.64, 80.0, 1.6, 12),
    ("tcas", "worst", 20, 11.4, 7.0, 27.35, 42.86, 8.4, 0),
]

# The same table, of the baselines: program, half, then length, coverage and relevance in % of DD (another passing input is the
# reference) and of DD_p (the patched run is the reference, global causality).
TABLE_3_BASELINES = [
    ("schedule", "best", 2.44, 43.45, 46.30, 2.00, 50.00, 50.00),
    ("schedule", "worst", 3.44, 20.17, 30.56, 3.14, 31.24, 33.33),
    ("schedule2", "best", 3.50, 25.00, 29.17, 4.60, 23.94, 34.33),
    ("schedule2", "worst", 4.67, 15.53, 22.22, 3.80, 19.82, 32.00),
    ("print_tokens", "best", 2.00, 46.30, 66.60, 2.00, 80.00, 41.74),
    ("print_tokens", "worst", 6.40, 22.28, 50.0, 2.00, 41.73, 100.0),
    ("print_tokens2", "best", 3.53, 20.01, 36.56, 3.69, 33.58, 91.28),
    ("print_tokens2", "worst", 4.26, 6.77, 26.22, 2.71, 11.21, 62.86),
    ("replace", "best", 5.36, 15.45, 61.54, 2.05, 23.21, 100.00),
    ("replace", "worst", 5.21, 14.98, 27.47, 2.17, 12.08, 81.67),
    ("tcas", "best", 3.00, 20.00, 66.67, 2.00, 29.76, 100.00),
    ("tcas", "worst", 3.00, 20.00, 66.67, 2.00, 18.23, 100.00),
]

# Table 4: program, version, length of the path, seconds of Algorithm 1 (None: more than four hours) and of Algorithm 2.
TABLE_4 = [
    ("bc", "1.06", 2, 1130, 135),
    ("diff", "2.8", 8, 2320, 368),
    ("find", "4.3.0", 5, 2906, 48),
    ("grep", "2.5.1", 5, 1220, 159),
    ("grep", "2.5.1", 7, None, 250),
    ("grep", "2.5.1", 7, 6865, 217),
    ("grep", "2.5.1", 5, 6167, 221),
    ("grep", "2.5.1", 9, None, 244),
    ("grep", "2.5.3", 4, None, 56),
    ("grep", "2.5.3", 4, None, 55),
    ("gzip", "1.3.9", 15, 7583, 651),
    ("tar", "1.13.25", 7, 8823, 531),
]
