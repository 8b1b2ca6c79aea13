import Foundation

/// A folder that is removed with the value, for dictionaries made by a test.
final class TemporaryDictionary {
    let path: String

    /// Makes an empty folder whose path contains a space.
    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/mecab test " + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes a dictionary of two words that is well-formed, in `charset`, but whose parts of speech
    /// are nobody's.
    convenience init(compiledIn charset: String) throws {
        try self.init()
        let sources = [
            "dicrc": """
            cost-factor = 800
            bos-feature = BOS/EOS,*
            eval-size = 1
            unk-eval-size = 1
            config-charset = UTF-8

            """,
            "char.def": "DEFAULT 0 1 0\nSPACE 0 1 0\n0x0020 SPACE\n",
            "unk.def": "DEFAULT,0,0,100,unknown,*\nSPACE,0,0,100,space,*\n",
            "matrix.def": "1 1\n0 0 0\n",
            "pos-id.def": "unknown 1\nspace 2\nanimal 3\n",
            "words.csv": "猫,0,0,10,animal,*\n犬,0,0,10,animal,*\n",
        ]
        for (name, text) in sources {
            try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
        }
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/lib/mecab/mecab-dict-index")
        compiler.arguments = ["-d", path, "-o", path, "-f", "UTF-8", "-c", charset]
        compiler.standardOutput = FileHandle.nullDevice
        compiler.standardError = FileHandle.nullDevice
        try compiler.run()
        compiler.waitUntilExit()
    }
}
