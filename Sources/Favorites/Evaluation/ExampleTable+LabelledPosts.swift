import Posts
import Storage

extension ExampleTable {
    /// The newest examples of the mirror, the oldest of them first: what the running mirror learned, with what the
    /// human did.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: The posts in the order in which they were last decided about.
    /// - Throws: `StorageError` or `CancellationError`.
    package func labelledPosts(atMost limit: Int) async throws -> [LabelledPost] {
        let rows = try await storage.query(
            """
            SELECT network, post_id, author, text, state FROM examples WHERE mirror = \(mirror)
            ORDER BY decided_ms DESC, sequence DESC, network DESC, post_id DESC LIMIT \(limit)
            """)
        return try rows.reversed().compactMap { row in
            guard let network = NetworkName(rawValue: try row.text("network")),
                let state = ExampleState(rawValue: try row.text("state"))
            else { return nil }
            let id = PostID(network: network, value: try row.text("post_id"))
            let example = Example(id: id, author: try row.optionalText("author"), text: try row.text("text"))
            return LabelledPost(example, state: state)
        }
    }
}
