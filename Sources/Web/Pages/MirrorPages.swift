/// All pages of a mirror.
package enum MirrorPages {
    package static let all: [any MirrorPage.Type] = [
        TodayPage.self, WaitingPage.self, ActionsPage.self, HoursPage.self, FavoritesPage.self,
        TextsPage.self,
        PeoplePage.self, HealthPage.self, DevicesPage.self, SettingsPage.self, SetupPage.self,
        WeekAheadPage.self, WeekReviewPage.self,
    ]
}

extension TemplateLibrary {
    /// The shared templates, and the templates of all pages.
    package static let standard: TemplateLibrary = {
        do {
            return try TemplateLibrary(
                [
                    .head, .frame, .band, .symbols, .emblem, .plain, .login, .comingBack,
                    .problem, .confirm, .index, .everybody, .once,
                ]
                    + MirrorPages.all.flatMap { $0.templates })
        } catch {
            preconditionFailure("a template cannot be parsed: \(error)")
        }
    }()
}
