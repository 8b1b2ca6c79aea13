/// Files that stand alone, taken for those of an archive.
struct FileSource: MemberSource {
    /// From the name in an archive to the path, in the order in which they are read.
    let files: [(name: String, path: String)]

    func names(where isWanted: (String) -> Bool) throws -> [String] { files.map(\.name).filter(isWanted) }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        for file in files {
            guard let sink = try open(file.name) else { continue }
            try FileReader(path: file.path).forEachChunk { chunk in
                try sink.feed(chunk)
                return true
            }
            try sink.finish()
        }
    }
}
