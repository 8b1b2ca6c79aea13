extension String {
    /// Copies bytes that are known to be UTF-8, which spares looking at each of them once more.
    ///
    /// - Parameter bytes: Whole scalars in UTF-8; anything else is a programming error.
    @inlinable init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        if #available(macOS 26, *) {
            self.init(copying: unsafe UTF8Span(unchecked: bytes.span))
        } else {
            self.init(decoding: bytes, as: UTF8.self)
        }
    }
}
