/// How much an archive may ask of the machine.
package struct ImportLimits: Equatable, Sendable {
    /// Bytes that one pass over an archive may unpack or read; JSON Lines, which are not packed, have no such limit.
    package var totalBytes = 16 << 30
    /// How many times larger than the zip or tar its content may be, once it exceeds `ratioFreeBytes`.
    ///
    /// Posts as JSON shrink to a tenth or a twentieth; a bomb to less than a five-hundredth.
    package var ratio = 200
    /// Content up to this size is never called a bomb.
    package var ratioFreeBytes = 64 << 20
    /// The largest post, like or other item of a list, and the largest small file.
    package var elementBytes = 1 << 20
    /// The largest line of JSON Lines.
    package var lineBytes = 1 << 20
    /// How deeply an item may be nested.
    package var nesting = 64
    /// How many problems are kept in detail; the rest are counted.
    package var problems = 100
    /// Full texts of long posts, which wait in memory for their posts.
    package var noteBytes = 32 << 20
    /// Ids of deleted posts, which are remembered while posts are read.
    package var deletedPosts = 1_000_000
    /// Posts of an archive of the Mastodon family that are remembered, to know an answer to one of them.
    package var ownPosts = 1_000_000

    package init() {}
}
