import Foundation

/// Lets a few in at a time; the others wait in order.
///
/// Every sandbox first lives through weeks of its world. A hundred at once would keep each other
/// from answering in time.
actor Turnstile {
    /// For the sandboxes of all tests.
    static let sandboxes = Turnstile(places: 4)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func enter() async {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
