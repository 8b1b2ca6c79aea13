extension UInt8 {
    /// `0` to `9`.
    @inlinable package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// `A` to `Z` and `a` to `z`.
    @inlinable package var isASCIILetter: Bool { (0x61...0x7A).contains(lowercaseASCII) }

    /// A letter or digit.
    @inlinable package var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    /// The byte in lower case, if it is an ASCII capital letter.
    @inlinable package var lowercaseASCII: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}

extension Unicode.Scalar {
    /// A letter or digit of ASCII.
    @inlinable package var isASCIIAlphanumeric: Bool {
        isASCII && UInt8(truncatingIfNeeded: value).isASCIIAlphanumeric
    }

    /// The scalar in lower case, if it is an ASCII capital letter.
    @inlinable package var lowercaseASCII: Unicode.Scalar {
        isASCII ? Unicode.Scalar(UInt8(truncatingIfNeeded: value).lowercaseASCII) : self
    }
}
