# SPDX-License-Identifier: Apache-2.0
"""Data files of the package; README.md tells each one's origin and licence.

digits.npz holds images of the "Optical Recognition of Handwritten Digits" data set by E. Alpaydin
and C. Kaynak, UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0.
"""
