import Foundation
import Posts

/// Reading favorites, which are ordered by when they were given and have no place to begin from but the newest.
extension XNetwork {
    /// The newest favorites are bought again by every look at them, so as few as possible are looked at.
    private static let favoritesPage = 10

    func newestFavorites(_ size: Int?) async throws -> FeedPage {
        let list = try await list(.favorites, XBounds(), size: size ?? Self.firstPage).list
        var page = try await page(of: list, in: .favorites)
        page.older = list.nextToken
        page.newer = list.ids.isEmpty ? nil : XFavoriteMarks(known: []).updated(with: list.ids).joined(separator: ",")
        return page
    }

    func favorites(before token: String, _ size: Int?) async throws -> FeedPage {
        let list = try await list(.favorites, XBounds(token: token), size: size ?? Self.fullPage).list
        var page = try await page(of: list, in: .favorites)
        page.older = list.nextToken == token ? nil : list.nextToken
        return page
    }

    func favorites(since cursor: String, _ size: Int?) async throws -> FeedPage {
        guard var marks = XFavoriteMarks(cursor) else { throw unknownCursor(.favorites) }
        var list: XList
        do {
            list = try await self.list(
                .favorites, XBounds(token: marks.descent?.token),
                size: size ?? (marks.descent == nil ? Self.favoritesPage : Self.firstPage)
            ).list
        } catch let error as NetworkError where error.code == .rejected && marks.descent != nil {
            // X no longer knows the page that was to follow: from the top again.
            marks.descent = nil
            list = try await self.list(.favorites, XBounds(), size: size ?? Self.firstPage).list
        }
        let top = marks.descent?.top ?? marks.updated(with: list.ids)
        var next = XFavoriteMarks(known: top)
        if let reach = marks.reach(in: list.entries.map(\.id)) {
            list.keep(first: reach)
        } else if let token = list.nextToken, token != marks.descent?.token {
            next = XFavoriteMarks(known: marks.known, descent: XFavoriteMarks.Descent(top: top, token: token))
        }
        list.remove(Set(marks.known))
        var page = try await page(of: list, in: .favorites)
        page.newer = next.text == cursor ? nil : next.text
        return page
    }
}
