import Sandbox

/// Cards that are drawn until none is left, and then all again in another order: each has its turn.
struct Deck<Card> {
    private let cards: [Card]
    private var left: [Card] = []
    private var generator: SampleGenerator

    init(_ cards: [Card], seed: UInt64) {
        self.cards = cards
        generator = SampleGenerator(seed: seed)
    }

    /// The next card; nil if there are none.
    mutating func draw() -> Card? {
        if left.isEmpty { left = generator.shuffled(cards) }
        return left.popLast()
    }
}
