import Formats
import Foundation
import Localization
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
            guard run.summary.items > 0 || run.relevantCount > 0 else {
                throw ImportError(.nothingToRead, path: request.path, run.causeOfNothing)
            }
            return run.summary
        }
    }

    /// Reads the owner of the repository, and the top of its tree.
    private func commit(in file: BlockFile) throws -> (owner: String, tree: ContentID) {
        func damaged(_ reason: String) -> ImportError {
            ImportError(
                .damaged, path: request.path, localized("\(reason); download the repository again"))
        }
        let commit: DAGCBOR
        do {
            commit = try DAGCBOR(try file.block(file.roots[0]), nesting: request.limits.nesting)
        } catch let fault as ItemFault {
            throw damaged(
                localized("the commit that it begins with cannot be read: \(fault.reason)"))
        }
        guard let owner = commit["did"]?.text, BlueskyName.isDID(owner) else {
            throw damaged(localized("its commit does not say whose repository it is"))
        }
        guard let version = commit["version"]?.integer, (2...3).contains(version) else {
            throw ImportError(
                .unsupported, path: request.path,
                localized("its commit is of another version than 2 and 3; update mirror-bot"))
        }
        guard let tree = commit["data"]?.link else {
            throw damaged(localized("its commit names no tree of records"))
        }
        return (owner, tree)
    }
}

/// Walks through the tree of a repository, in the order of its keys.
private struct TreeWalk {
    /// The maximum length, in bytes, of a key: a collection, `/` and the name of a record.
    private static let longestKey = 1_024

    let file: BlockFile
    let owner: String
    let run: BlueskyRun
    let nesting: Int
    /// The visited parts: a part may occur only once, because a cycle would be read without end.
    private var visited: Set<ContentID> = []
    private var recordCount = 0

    init(file: BlockFile, owner: String, run: BlueskyRun, nesting: Int) {
        self.file = file
        self.owner = owner
        self.run = run
        self.nesting = nesting
    }

    /// Visits a part of the tree; one that cannot be read is reported as a problem and skipped.
    mutating func visit(_ name: ContentID, depth: Int = 0) throws {
        do {
            guard depth < nesting else {
                throw ItemFault(localized("the tree of records is too deep"))
            }
            guard visited.insert(name).inserted else {
                throw ItemFault(localized("a part of the tree of records is there twice"))
            }
            let node = try DAGCBOR(try file.block(name), nesting: nesting)
            // A node has its entries in `e`, and in `l` the subtree before them. An entry has the
            // record `v` and the subtree `t` after it. Its key is the first `p` bytes of the
            // previous key, followed by `k`.
            guard let entries = node["e"]?.list else {
                throw ItemFault(localized("a part of the tree has no entries"))
            }
            if let leftSubtree = node["l"]?.link { try visit(leftSubtree, depth: depth + 1) }
            var key: [UInt8] = []
            for entry in entries {
                guard let prefixCount = entry["p"]?.integer,
                    (0...Int64(key.count)).contains(prefixCount),
                    let keySuffix = entry["k"]?.bytes,
                    keySuffix.count <= Self.longestKey - Int(prefixCount),
                    let record = entry["v"]?.link
                else { throw ItemFault(localized("an entry of the tree is none")) }
                key = Array(key.prefix(Int(prefixCount))) + keySuffix
                try take(key: key, record: record)
                if let rightSubtree = entry["t"]?.link { try visit(rightSubtree, depth: depth + 1) }
            }
        } catch let fault as ItemFault {
            run.report(
                .element(recordCount, byte: file.offset(of: name)),
                localized("a part of the tree of records: \(fault.reason)"))
        }
    }

    /// Passes on a record of the kind that the purpose needs; counts any other record.
    private mutating func take(key: [UInt8], record: ContentID) throws {
        let index = recordCount
        recordCount += 1
        do {
            guard let name = String(validating: key, as: UTF8.self),
                let address = RecordAddress("at://\(owner)/\(name)")
            else { throw ItemFault(localized("its key is not the address of a record")) }
            guard run.wants(address) else { return run.count(address) }
            let value = try DAGCBOR(try file.block(record), nesting: nesting)
            let uri = DAGCBOR.text("at://\(owner)/\(name)")
            try run.take(try JSON(DAGCBOR.map(["uri": uri, "value": value]).json))
        } catch let fault as ItemFault {
            run.report(.element(index, byte: file.offset(of: record)), fault.reason)
        }
    }
}
