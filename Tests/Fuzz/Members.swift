@testable import Import

/// The files of an archive as one text: lines such as `=== data/tweets.js`, each before the
/// contents of that file.
struct Members: MemberSource {
    private var files: [(name: String, contents: [UInt8])] = []

    init(_ text: String) {
        for part in text.split(separator: "=== ") {
            let name = part.prefix { $0 != "\n" }
            files.append((String(name), Array(part[name.endIndex...].utf8)))
        }
    }

    func names(where isWanted: (String) -> Bool) -> [String] { files.map(\.name).filter(isWanted) }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        for file in files {
            guard let sink = try open(file.name) else { continue }
            for chunk in file.contents.chunks(of: 1_000) {
                try chunk.withUnsafeBytes { try sink.feed($0) }
            }
            try sink.finish()
        }
    }
}
