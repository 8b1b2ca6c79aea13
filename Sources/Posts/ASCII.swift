extension UInt8 {
    /// Whether the byte is `0` to `9`.
    @inlinable package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether the byte is `A` to `Z` or `a` to `z`.
    @inlinable package var isASCIILetter: Bool { (0x61...0x7A).contains(lowercaseASCII) }

    /// Whether the byte is an ASCII letter or digit.
    @inlinable package var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    /// The byte in lower case, if it is an ASCII capital letter.
    @inlinable package var lowercaseASCII: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is an ASCII letter or digit.
    @inlinable package var isASCIIAlphanumeric: Bool {
        isASCII && UInt8(truncatingIfNeeded: value).isASCIIAlphanumeric
    }

    /// The scalar in lower case, if it is an ASCII capital letter.
    @inlinable package var lowercaseASCII: Unicode.Scalar {
        isASCII ? Unicode.Scalar(UInt8(truncatingIfNeeded: value).lowercaseASCII) : self
    }
}
