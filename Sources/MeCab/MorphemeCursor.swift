internal import CMeCab

/// Walks through the words of one analysed text.
@usableFromInline struct MorphemeCursor {
    private var node: UnsafePointer<mecab_node_t>?

    /// - Parameter lattice: An analysed text, which must stay as long as the cursor and its words are in use.
    @usableFromInline init(_ lattice: OpaquePointer) {
        node = mecab_lattice_get_bos_node(lattice).map { UnsafePointer($0) }
    }

    /// The next word; nil behind the last one.
    @usableFromInline mutating func next() -> Morpheme? {
        var next = node
        while let current = next {
            next = UnsafePointer(current.pointee.next)
            let kind = Int32(current.pointee.stat)
            guard kind == MECAB_NOR_NODE || kind == MECAB_UNK_NODE, let surface = current.pointee.surface,
                let record = current.pointee.feature
            else { continue }
            node = next
            return Morpheme(
                start: UnsafeRawPointer(surface).assumingMemoryBound(to: UInt8.self),
                length: current.pointee.length, number: current.pointee.posid, isUnknown: kind == MECAB_UNK_NODE,
                record: UnsafeRawPointer(record).assumingMemoryBound(to: UInt8.self))
        }
        node = nil
        return nil
    }
}
