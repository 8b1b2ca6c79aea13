import Foundation

// What libFuzzer calls: it has the `main` of this program, whose options that begin with two
// hyphens are ours.

/// The target that this process runs; set before the first input, and not changed after.
nonisolated(unsafe) private var chosen: FuzzTarget?

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let words = (0..<Int(count.pointee)).compactMap {
        arguments.pointee[$0].map { String(cString: $0) }
    }
    func value(_ option: String) -> String? {
        words.last { $0.hasPrefix(option + "=") }.map {
            String($0.dropFirst(option.utf8.count + 1))
        }
    }
    if words.contains("--list") {
        print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
        exit(0)
    }
    guard let name = value("--target"), let target = FuzzTarget.named(name) else {
        leave(
            "expected --target=NAME with one of: \(FuzzTarget.all.map(\.name).joined(separator: ", "))"
        )
    }
    if let folder = value("--write-seeds") {
        do { try Corpus(target).write(to: folder) } catch {
            leave("could not write the seeds: \(error)")
        }
        exit(0)
    }
    chosen = target
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do {
        try chosen?.run(input)
        if let long = Corpus.long(input) { try chosen?.run(long) }
    } catch {
        // libFuzzer keeps the input of a process that aborts.
        FileHandle.standardError.write(Data("\n\(chosen?.name ?? ""): \(error)\n".utf8))
        abort()
    }
    return 0
}

private func leave(_ problem: String) -> Never {
    FileHandle.standardError.write(Data((problem + "\n").utf8))
    exit(64)
}

/// What a target begins from, as files for libFuzzer.
private struct Corpus {
    private let target: FuzzTarget

    init(_ target: FuzzTarget) { self.target = target }

    /// Writes each seed to a file of its own, and the words to `words.dict` beside the folder of
    /// seeds.
    func write(to folder: String) throws {
        let seeds = URL(fileURLWithPath: folder).appendingPathComponent("seeds")
        try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
        for (index, seed) in target.seeds.enumerated() {
            try Data(seed).write(to: seeds.appendingPathComponent("seed-\(index)"))
        }
        let lines = target.words.map { word in
            "\""
                + word.utf8.map { "\\x" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                .joined() + "\""
        }
        let words = lines.joined(separator: "\n") + "\n"
        try Data(words.utf8).write(
            to: URL(fileURLWithPath: folder).appendingPathComponent("words.dict"))
    }

    /// For a few inputs, always the same ones, a long one with a part of it repeated.
    static func long(_ input: [UInt8]) -> [UInt8]? {
        guard input.count >= 2, input.count <= 2_048 else { return nil }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in input { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        guard hash >> 56 == 0 else { return nil }
        let start = Int(hash & 0xFFFF) % input.count
        let end = start + 1 + Int(hash >> 16 & 0xFFFF) % (input.count - start)
        return Pumping.pumped(input, repeating: start..<end, to: 1 << 16)
    }
}
