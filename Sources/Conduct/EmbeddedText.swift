import CRules

extension String {
    /// The text of a file that is part of the program.
    init(_ file: EmbeddedText) {
        self.init(decoding: UnsafeRawBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
    }
}
