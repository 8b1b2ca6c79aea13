/// The masters of a cluster's 16,384 slots.
struct SlotMap {
    static let slots = 16_384
    /// The command that asks for the slot map; all versions with clusters support it.
    static let question = RedisCommand("CLUSTER", "SLOTS")

    /// The masters, without duplicates.
    private(set) var masters: [RedisAddress] = []
    /// Indices in `masters`; -1 for a slot without a known master.
    private var owners = [Int](repeating: -1, count: slots)

    /// The known master of a slot; `nil` if there is none.
    subscript(slot: Int) -> RedisAddress? {
        get { owners[slot] < 0 ? nil : masters[owners[slot]] }
        set { owners[slot] = newValue.map { masterIndex(of: $0) } ?? -1 }
    }

    /// Returns the index of a master in ``masters``, after adding it if it is new.
    private mutating func masterIndex(of master: RedisAddress) -> Int {
        if let index = masters.firstIndex(of: master) { return index }
        masters.append(master)
        return masters.count - 1
    }

    /// A server's reply to the ``question``: ranges of slots with the address of each one's master.
    struct Report {
        fileprivate let ranges: [(slots: ClosedRange<Int>, host: String?, port: Int)]

        /// `nil` if the server is in no cluster, or does not say so.
        init?(_ reply: RedisReply) {
            guard let entries = reply.array else { return nil }
            ranges = entries.compactMap { entry in
                guard let parts = entry.array, parts.count >= 3, let first = parts[0].integer,
                    let last = parts[1].integer, 0 <= first, first <= last, last < slots,
                    let master = parts[2].array, master.count >= 2, let port = master[1].integer
                else { return nil }
                return (Int(first)...Int(last), master[0].string, Int(clamping: port))
            }
        }
    }

    init() {}

    /// - Parameters:
    ///   - report: The slot ranges that a server reported.
    ///   - source: The replying server, which may not know its own name.
    init(_ report: Report, from source: RedisAddress) {
        for range in report.ranges {
            let index = masterIndex(of: source.named(range.host, port: range.port))
            for slot in range.slots { owners[slot] = index }
        }
    }
}

extension RedisAddress {
    /// The address in a server's reply; the server's own host replaces a missing or unknown one.
    fileprivate func named(_ host: String?, port: Int) -> RedisAddress {
        RedisAddress(
            host: host.flatMap { ["", "?"].contains($0) ? nil : $0 } ?? self.host, port: port)
    }
}

/// A cluster's redirection of a command: `MOVED`, `ASK`, or `TRYAGAIN` and `CLUSTERDOWN`.
enum Redirection: Equatable {
    /// Another server has the slot now (`MOVED`).
    case moved(slot: Int, to: RedisAddress)
    /// The slot is being migrated to another server, which has these keys already (`ASK`).
    case ask(RedisAddress)
    /// The command is to be sent again later, because keys are being migrated, or because no server
    /// has the slot (`TRYAGAIN`, `CLUSTERDOWN`).
    case later

    /// Reads an error reply; nil if it is no redirection.
    ///
    /// - Parameters:
    ///   - error: The text of an error reply.
    ///   - source: The server that sent it.
    init?(_ error: String, from source: RedisAddress) {
        if error.hasPrefix("TRYAGAIN ") || error.hasPrefix("CLUSTERDOWN ") {
            self = .later
            return
        }
        let words = error.split(separator: " ")
        guard words.count == 3, ["MOVED", "ASK"].contains(words[0]), let slot = Int(words[1]),
            (0..<SlotMap.slots).contains(slot), let colon = words[2].lastIndex(of: ":"),
            let port = Int(words[2][words[2].index(after: colon)...])
        else { return nil }
        let target = source.named(String(words[2][..<colon]), port: port)
        self = words[0] == "ASK" ? .ask(target) : .moved(slot: slot, to: target)
    }
}

// MARK: - Slots of keys

extension RedisCommand {
    /// The slot of the command's first key.
    ///
    /// For a command without keys, this is the slot of its first argument: any server can execute
    /// the command.
    var slot: Int {
        let isScript = ["EVAL", "EVALSHA"].contains(parts[0])
        guard let key = parts.dropFirst(isScript ? 3 : 1).first else { return 0 }
        return key.slot
    }
}

extension RedisArgument {
    /// The slot of a key with this name.
    ///
    /// Only the part between the first brace and the next closing one counts, unless it is empty.
    package var slot: Int {
        var tag = bytes[...]
        if let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        {
            tag = bytes[(open + 1)..<close]
        }
        return Int(Self.checksum(tag)) % SlotMap.slots
    }

    /// CRC-16/XMODEM: polynomial 0x1021, not reflected, initial value 0.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt16(byte) << 8) { sum, _ in
                sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
            }
        }
    }
}
