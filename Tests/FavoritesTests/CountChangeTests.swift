import Favorites
import NetworkNames
import Posts
import Testing

@testable import Favorites

@Suite struct CountChangeTests {
    private static let example = Example(
        id: PostID(network: .mastodon, value: "1"), author: "a", text: "猫")
    private static let id = example.id
    private static let set = FeatureSet(words: ["猫"], author: "@a")

    struct Transition: Sendable {
        let event: FavoriteEvent
        let from: ExampleState?
        let to: ExampleState?
    }

    static let transitions = [
        Transition(event: .seen(example), from: nil, to: .seen),
        Transition(event: .seen(example), from: .seen, to: .seen),
        Transition(event: .seen(example), from: .seenFavorite, to: .seenFavorite),
        Transition(event: .seen(example), from: .favorite, to: .seenFavorite),
        Transition(event: .favorited(example), from: nil, to: .favorite),
        Transition(event: .favorited(example), from: .seen, to: .seenFavorite),
        Transition(event: .favorited(example), from: .seenFavorite, to: .seenFavorite),
        Transition(event: .favorited(example), from: .favorite, to: .favorite),
        Transition(event: .unfavorited(id), from: nil, to: nil),
        Transition(event: .unfavorited(id), from: .seen, to: .seen),
        Transition(event: .unfavorited(id), from: .seenFavorite, to: .seen),
        Transition(event: .unfavorited(id), from: .favorite, to: nil),
        Transition(event: .forgotten(id), from: nil, to: nil),
        Transition(event: .forgotten(id), from: .seen, to: nil),
        Transition(event: .forgotten(id), from: .seenFavorite, to: nil),
        Transition(event: .forgotten(id), from: .favorite, to: nil),
    ]

    @Test(arguments: transitions) func statesFollowTheTable(_ transition: Transition) {
        #expect(ExampleState.after(transition.event, from: transition.from) == transition.to)
    }

    @Test func seeingAPostCountsANormal() {
        var change = CountChange()
        change.move(Self.set, from: nil, to: .seen)
        #expect(
            (change.favorites, change.normals, change.seen, change.seenFavorites) == (0, 1, 1, 0))
        #expect(change.features == [.favorite: [:], .normal: ["猫": 1, "@a": 1]])
    }

    @Test func favoritingASeenPostMovesItsFeatures() {
        var change = CountChange()
        change.move(Self.set, from: .seen, to: .seenFavorite)
        #expect(
            (change.favorites, change.normals, change.seen, change.seenFavorites) == (1, -1, 0, 1))
        #expect(change.features == [.favorite: ["猫": 1, "@a": 1], .normal: ["猫": -1, "@a": -1]])
    }

    @Test func favoritesThatWereNotSeenDoNotCountAsSeen() {
        var change = CountChange()
        change.move(Self.set, from: nil, to: .favorite)
        #expect(
            (change.favorites, change.normals, change.seen, change.seenFavorites) == (1, 0, 0, 0))
        change.move(Self.set, from: .favorite, to: .seenFavorite)
        #expect(
            (change.favorites, change.normals, change.seen, change.seenFavorites) == (1, 0, 1, 1))
    }

    @Test(arguments: ExampleState.allCases) func leavingAStateUndoesEnteringIt(
        _ state: ExampleState
    ) {
        var change = CountChange()
        change.move(Self.set, from: nil, to: state)
        #expect(!change.isEmpty)
        change.move(Self.set, from: state, to: nil)
        #expect(change.isEmpty)
    }
}
