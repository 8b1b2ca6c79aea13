import Foundation
import TestSupport

/// Writes tars byte by byte, such as no tool would write them.
struct TarWriter {
    private var body: [UInt8] = []

    /// Appends an entry.
    ///
    /// - Parameters:
    ///   - name: Any name of up to 99 bytes.
    ///   - contents: The bytes in the tar.
    ///   - type: `0` for a file, `1` for a hard link, `2` for a symbolic link, `5` for a folder.
    ///   - link: What a link leads to.
    ///   - declaredSize: The size that the header tells; nil is the truth.
    mutating func add(
        _ name: String, _ contents: String, type: Character = "0", link: String = "",
        declaredSize: Int? = nil
    ) {
        let data = Array(contents.utf8)
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: Array(text.utf8))
        }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        put(name, at: 0)
        put("0000644", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(declaredSize ?? data.count, 11), at: 124)
        put(octal(1_700_000_000, 11), at: 136)
        put("        ", at: 148)
        put(String(type), at: 156)
        put(link, at: 157)
        put("ustar\u{0}00", at: 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ", at: 148)
        body += header + data
        body += [UInt8](repeating: 0, count: (512 - data.count % 512) % 512)
    }

    /// The tar.
    var data: Data { Data(body + [UInt8](repeating: 0, count: 1_024)) }

    /// Writes the tar packed with gzip, as servers do, and returns its path.
    func writePacked(to name: String, in directory: TemporaryDirectory) throws -> String {
        let plain = try directory.write(data, to: name + ".tar")
        try Fixture.run("/usr/bin/env", ["gzip", "-n", plain], in: directory)
        return plain + ".gz"
    }
}
