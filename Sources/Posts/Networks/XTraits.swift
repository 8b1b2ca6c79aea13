import Localization

extension NetworkTraits {
    /// X.
    static let x: NetworkTraits = {
        var traits = NetworkTraits(
            name: "x", displayName: "X", site: "x.com", accountForm: .number,
            isHandle: { name in
                (1...15).contains(name.utf8.count)
                    && name.unicodeScalars.allSatisfy { $0.isASCIIAlphanumeric || $0 == "_" }
            },
            profilePage: { "https://x.com/\($0)" },
            postPage: { $0.utf8.allSatisfy(\.isASCIIDigit) ? "https://x.com/i/status/\($0)" : nil },
            // The limits of accounts without a subscription.
            limits: PublishingLimits(maximumCharacters: 280, charactersPerURL: 23, unit: .xWeight),
            longestAlt: 1_000)
        traits.resentsTags = true
        traits.chargesForHosts = true
        // X's rules are not known to allow a program to continue its own posts.
        traits.hasThreads = false
        traits.returnsPictures = false
        traits.namePlace = .beforeAnswers
        traits.returnsBotMark = false
        // Only a person can mark the account, and the API does not return the mark.
        traits.showsBotMark = false
        traits.wrongLogin = LocalizedText(
            "check the keys in the developer console and the PIN, and log in again")
        // X requires that posts deleted there are removed soon.
        traits.learningDays = 30
        return traits
    }()
}
