import Foundation

/// Decodes the items of a list one by one, and counts those that cannot be.
final class ListSink<Item: Decodable>: MemberSink {
    private let file: String
    private let report: (ImportProblem) -> Void
    private let shortcut: ([UInt8]) -> Item?
    private let body: (Item) throws -> Void
    private let decoder = JSONDecoder()
    private var splitter: any ItemSplitter

    /// - Parameters:
    ///   - file: The name for problems.
    ///   - splitter: Cuts the file into items.
    ///   - report: Gets what cannot be read.
    ///   - shortcut: A quicker way to what the decoder would make of an item; nil where it does not know one.
    ///   - body: Gets each item. An ``ItemFault`` that it throws becomes a problem, any other error ends the reading.
    init(
        file: String, splitter: any ItemSplitter, report: @escaping (ImportProblem) -> Void,
        shortcut: @escaping ([UInt8]) -> Item? = { _ in nil }, body: @escaping (Item) throws -> Void
    ) {
        self.file = file
        self.shortcut = shortcut
        self.report = report
        self.body = body
        self.splitter = splitter
    }

    func feed(_ chunk: UnsafeRawBufferPointer) throws {
        try splitter.feed(chunk) { try take($0) }
    }

    func finish() throws {
        if let fault = try splitter.finish({ try take($0) }) {
            report(ImportProblem(file: file, position: .wholeFile, reason: fault.reason))
        }
    }

    private func take(_ element: SplitElement) throws {
        do {
            try body(try decoded(element))
        } catch let fault as ItemFault {
            let position = ImportProblem.Position.element(element.index, byte: element.offset)
            report(ImportProblem(file: file, position: position, reason: fault.reason))
        }
    }

    private func decoded(_ element: SplitElement) throws(ItemFault) -> Item {
        let bytes = try element.content.get()
        guard String(validating: bytes, as: UTF8.self) != nil else { throw ItemFault("not valid UTF-8") }
        if let item = shortcut(bytes) { return item }
        do {
            return try decoder.decode(Item.self, from: Data(bytes))
        } catch {
            throw ItemFault(error)
        }
    }
}

/// Decodes the one object of a small file, such as `window.__THAR_CONFIG = {…}`.
final class ObjectSink<Item: Decodable>: MemberSink {
    private let limit: Int
    private let body: (Item) -> Void
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - limit: A larger file is passed over.
    ///   - body: Gets the object if there is one; such files only help, so that a broken one is no problem.
    init(limit: Int, body: @escaping (Item) -> Void) {
        self.limit = limit
        self.body = body
    }

    func feed(_ chunk: UnsafeRawBufferPointer) {
        if bytes.count <= limit { bytes.append(contentsOf: chunk) }
    }

    func finish() {
        guard bytes.count <= limit, let start = bytes.firstIndex(of: Byte.openBrace),
            let end = bytes.lastIndex(of: Byte.closeBrace), start < end,
            let item = try? JSONDecoder().decode(Item.self, from: Data(bytes[start...end]))
        else { return }
        body(item)
    }
}
