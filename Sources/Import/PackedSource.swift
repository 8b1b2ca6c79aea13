/// The files of a zip or a tar.
///
/// Only the list at the end of a zip is trusted to say what is in it, so that a
/// download that was cut off is noticed before anything is read. A tar has no
/// such list and can only be read from the start to the end; naming its files
/// unpacks all of it once, which serves the same end.
struct PackedSource: MemberSource {
    private let path: String
    private let packing: Packing
    private let limits: ImportLimits
    private let size: Int

    /// - Parameters:
    ///   - path: The path of a regular file.
    ///   - packing: What the file is.
    ///   - size: The size of that file.
    ///   - limits: How much it may unpack to.
    init(path: String, packing: Packing, size: Int, limits: ImportLimits) {
        self.path = path
        self.packing = packing
        self.size = size
        self.limits = limits
    }

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        var names: [String] = []
        var declared = 0
        try forEachFile { name, _, reader in
            guard isWanted(name) else { return }
            let (sum, overflow) = declared.addingReportingOverflow(reader.declaredSize)
            declared = sum
            if overflow || declared > allowedBytes { throw bomb(allowedBytes) }
            names.append(name)
        }
        return names
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        var unpacked = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        try forEachFile { name, isRegular, reader in
            guard let sink = try open(name) else { return }
            guard isRegular else { throw unsafe(name) }
            while true {
                let count = try reader.readData(into: &buffer, of: name)
                guard count > 0 else { break }
                unpacked += count
                guard unpacked <= allowedBytes else { throw bomb(allowedBytes) }
                try buffer.withUnsafeBytes { try sink.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
            try sink.finish()
        }
    }

    /// Never more than `limits.totalBytes`; proportional to the file once it is past the free allowance.
    private var allowedBytes: Int { min(limits.totalBytes, allowedPassage) }

    /// How much of a tar may go by, read or not: pictures may be larger than all that is ever read.
    private var allowedPassage: Int {
        let (proportional, overflow) = size.multipliedReportingOverflow(by: limits.ratio)
        return max(limits.ratioFreeBytes, overflow ? .max : proportional)
    }

    private func bomb(_ allowed: Int) -> ImportError {
        ImportError(
            .bomb, path: path, "it would unpack to more than \(allowed >> 20) MiB, which no archive of this size does")
    }

    private func unsafe(_ name: String) -> ImportError {
        ImportError(.unsafePath, path: path, "the name \(MemberName.shown(name)) leads out of the archive")
    }

    private func forEachFile(_ body: (String, Bool, PackedReader) throws -> Void) throws {
        let reader = try PackedReader(path: path, packing: packing)
        while try reader.next() {
            guard !reader.isEncrypted else {
                throw ImportError(
                    .encrypted, path: path, "the zip is encrypted; unpack it with its password and give the folder")
            }
            let name = reader.name
            if let name {
                guard !MemberName.isUnsafe(name) else { throw unsafe(name) }
                if !reader.isFolder, let unwrapped = MemberName.unwrapped(name) {
                    try body(unwrapped, reader.isRegularFile, reader)
                }
            }
            if packing == .tar { try passOver(reader, name: name ?? "") }
        }
    }

    /// Passes over the rest of a tar's entry block by block, so that a bomb is noticed in the middle of one.
    private func passOver(_ reader: PackedReader, name: String) throws {
        func check() throws {
            if reader.unpackedBytes > allowedPassage { throw bomb(allowedPassage) }
        }
        try check()
        try reader.skipData(of: name, checkingWith: check)
    }
}
