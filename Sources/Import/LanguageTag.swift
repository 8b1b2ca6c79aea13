/// Language tags as other people write them.
enum LanguageTag {
    /// The tag, or nil if it does not have the form of one or says that there is no language.
    static func normalized(_ tag: String) -> String? {
        let isWellFormed = tag.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
        }
        return (2...35).contains(tag.utf8.count) && isWellFormed && tag != "und" && tag != "zxx" ? tag : nil
    }
}
