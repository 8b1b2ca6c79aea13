import Foundation

/// Where a reader of what arrives stands in a feed that is ordered by ids.
///
/// X gives the newest items first and has no way to ask for the oldest new ones. So after a page that does not reach
/// down to what is known, the cursor names the gap between them, and the next page continues there: nothing is lost
/// when the reader stops in between, and nothing is bought twice.
struct XArrivals: Equatable {
    /// What was not read yet lies between these ids.
    struct Gap: Equatable {
        var since: String
        var until: String
    }

    /// The newest id that was seen.
    var newest: String
    var gap: Gap?

    init(newest: String, gap: Gap? = nil) {
        self.newest = newest
        self.gap = gap
    }

    /// Nil for a text that is not from ``text``.
    init?(_ text: String) {
        let ids = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard ids.allSatisfy(XID.isUsable) else { return nil }
        switch ids.count {
        case 1: self.init(newest: ids[0])
        case 3: self.init(newest: ids[0], gap: Gap(since: ids[1], until: ids[2]))
        default: return nil
        }
    }

    var text: String {
        [newest, gap?.since, gap?.until].compactMap(\.self).joined(separator: ";")
    }
}

/// Where a reader of new favorites stands.
///
/// Favorites are ordered by when they were given, which X does not tell, and cannot be asked for from a point on. So
/// the newest few that are known are looked for from the top; a few, because some may have been taken back.
struct XFavoriteMarks: Equatable {
    /// How many favorites are remembered.
    static let count = 10

    /// A reading that has not come down to the known favorites yet.
    struct Descent: Equatable {
        /// What will be known when it has.
        var top: [String]
        /// The page that follows.
        var token: String
    }

    /// The newest known favorites, newest first.
    var known: [String]
    var descent: Descent?

    init(known: [String], descent: Descent? = nil) {
        self.known = known
        self.descent = descent
    }

    /// Nil for a text that is not from ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let lists = parts.prefix(2).map { $0.split(separator: ",").map(String.init) }
        guard let known = lists.first, !known.isEmpty, lists.joined().allSatisfy(XID.isUsable) else { return nil }
        switch parts.count {
        case 1: self.init(known: known)
        case 3:
            guard !lists[1].isEmpty, let token = parts[2].removingPercentEncoding, !token.isEmpty else { return nil }
            self.init(known: known, descent: Descent(top: lists[1], token: token))
        default: return nil
        }
    }

    var text: String {
        let lists = [known, descent?.top].compactMap { $0?.joined(separator: ",") }
        return (lists + [descent.map { PercentEncoding.encoded($0.token) }].compactMap(\.self))
            .joined(separator: ";")
    }

    /// The marks after reading these newest favorites.
    func updated(with ids: [String]) -> [String] {
        var seen: Set<String> = []
        return Array((ids + known).filter { seen.insert($0).inserted }.prefix(Self.count))
    }

    /// How many items of a page, newest first, end with the last known one; nil if the page does not reach down to them.
    ///
    /// One known favorite alone may have been given anew, and stand above others that are not known.
    func reach(in ids: [String?]) -> Int? {
        let places = ids.indices.filter { index in ids[index].map(known.contains) ?? false }
        return places.count >= min(2, known.count) ? places.last.map { $0 + 1 } : nil
    }
}
