import Formats
import Foundation
import NetworkNames
import Posts

/// A complete Bluesky repository, as `com.atproto.sync.getRepo` and the app's export return it: a
/// CAR file.
///
/// Its root is a commit, which names the owner and the tree of all records (a Merkle search tree).
/// Only records in the tree count: the file may hold blocks of deleted records. Every block is
/// verified by its hash; the commit's signature is not verified, because people import their own
/// file.
struct BlueskyRepository {
    private let request: ImportRequest

    init(_ request: ImportRequest) { self.request = request }

    /// - Parameters:
    ///   - size: The size of the file in bytes.
    /// - Throws: ``ImportError``, or what `body` throws.
    func read(size: Int, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        let file = try BlockFile(path: request.path, size: size, limits: request.limits)
        let (owner, tree) = try commit(in: file)
        return try withoutActuallyEscaping(body) { body in
            let run = BlueskyRun(request, format: "Bluesky repository", body: body)
            run.summary.owner = AccountID(network: .bluesky, value: owner)
            if let fault = file.fault { run.report(.wholeFile, fault.reason) }
            var walk = TreeWalk(file: file, owner: owner, run: run, nesting: request.limits.nesting)
            try walk.visit(tree)
            guard run.summary.items > 0 || run.seen > 0 else {
                throw ImportError(.nothingToRead, path: request.path, run.causeOfNothing)
            }
            return run.summary
        }
    }

    /// Reads the owner of the repository, and the top of its tree.
    private func commit(in file: BlockFile) throws -> (owner: String, tree: ContentID) {
        func damaged(_ reason: String) -> ImportError {
            ImportError(.damaged, path: request.path, "\(reason); download the repository again")
        }
        let commit: DAGCBOR
        do {
            commit = try DAGCBOR(try file.block(file.roots[0]), nesting: request.limits.nesting)
        } catch let fault as ItemFault {
            throw damaged("the commit that it begins with cannot be read: \(fault.reason)")
        }
        guard let owner = commit["did"]?.text, BlueskyName.isDID(owner) else {
            throw damaged("its commit does not say whose repository it is")
        }
        guard let version = commit["version"]?.integer, (2...3).contains(version) else {
            throw ImportError(
                .unsupported, path: request.path,
                "its commit is of another version than 2 and 3; update mirror-bot")
        }
        guard let tree = commit["data"]?.link else {
            throw damaged("its commit names no tree of records")
        }
        return (owner, tree)
    }
}

/// Walks through the tree of a repository, in the order of its keys.
private struct TreeWalk {
    /// A key is a collection, `/` and the name of a record.
    private static let longestKey = 1_024

    let file: BlockFile
    let owner: String
    let run: BlueskyRun
    let nesting: Int
    /// The visited parts: each occurs once, and a file with a cycle would never end.
    private var seen: Set<ContentID> = []
    private var records = 0

    init(file: BlockFile, owner: String, run: BlueskyRun, nesting: Int) {
        self.file = file
        self.owner = owner
        self.run = run
        self.nesting = nesting
    }

    /// Visits a part of the tree; one that cannot be read is reported as a problem and skipped.
    mutating func visit(_ name: ContentID, depth: Int = 0) throws {
        do {
            guard depth < nesting else { throw ItemFault("the tree of records is too deep") }
            guard seen.insert(name).inserted else {
                throw ItemFault("a part of the tree of records is there twice")
            }
            let node = try DAGCBOR(try file.block(name), nesting: nesting)
            guard let entries = node["e"]?.list else {
                throw ItemFault("a part of the tree has no entries")
            }
            if let leftSubtree = node["l"]?.link { try visit(leftSubtree, depth: depth + 1) }
            var key: [UInt8] = []
            for entry in entries {
                guard let shared = entry["p"]?.integer, (0...Int64(key.count)).contains(shared),
                    let keySuffix = entry["k"]?.bytes,
                    keySuffix.count <= Self.longestKey - Int(shared),
                    let record = entry["v"]?.link
                else { throw ItemFault("an entry of the tree is none") }
                key = Array(key.prefix(Int(shared))) + keySuffix
                try take(key, record)
                if let rightSubtree = entry["t"]?.link { try visit(rightSubtree, depth: depth + 1) }
            }
        } catch let fault as ItemFault {
            run.report(
                .element(records, byte: file.offset(of: name)),
                "a part of the tree of records: \(fault.reason)")
        }
    }

    /// Passes on a record, if it is of the right kind.
    private mutating func take(_ key: [UInt8], _ record: ContentID) throws {
        let index = records
        records += 1
        do {
            guard let name = String(validating: key, as: UTF8.self),
                let address = RecordAddress("at://\(owner)/\(name)")
            else { throw ItemFault("its key is not the address of a record") }
            guard run.wants(address) else { return run.count(address) }
            let value = try DAGCBOR(try file.block(record), nesting: nesting)
            let uri = DAGCBOR.text("at://\(owner)/\(name)")
            try run.take(try JSON(DAGCBOR.map(["uri": uri, "value": value]).json))
        } catch let fault as ItemFault {
            run.report(.element(index, byte: file.offset(of: record)), fault.reason)
        }
    }
}
