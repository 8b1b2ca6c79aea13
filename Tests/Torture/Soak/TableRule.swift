/// How many rows a table may have, and why.
struct TableRule: Sendable {
    let table: String
    /// For the person who reads that it was broken.
    let reason: String
    /// The most rows at the end of a day.
    let bound: @Sendable (SoakWorld) -> Int

    private static func constant(_ table: String, _ reason: String) -> TableRule {
        TableRule(table: table, reason: reason) { $0.first.tables.rows[table] ?? 0 }
    }

    private static func atMost(_ table: String, _ number: Int, _ reason: String) -> TableRule {
        TableRule(table: table, reason: reason) { _ in number }
    }

    /// Every table of a mirror.
    ///
    /// Only `plans` and `actions` grow with time: they are the memory of what
    /// was said to whom, on which never saying it twice rests, about twenty
    /// short rows a day.
    static let all: [TableRule] = [
        constant("mirrors", "one a mirror"),
        constant("leases", "one a mirror"),
        atMost("posting_days", SoakMirror.archiveLimit, "one a day of the archive"),
        constant("feeds", "one a feed"),
        atMost("feed_stretches", 15, "a gap, a sweep and the past of each feed"),
        atMost("feed_items", 0, "nothing here is unreadable, or cannot be decided"),
        atMost("feed_gaps", 0, "nothing here is out of reach"),
        atMost("refusals", 0, "nobody is refused"),
        atMost("settings", 0, "nothing is set"),
        atMost("never_texts", 0, "nobody says never"),
        atMost("text_labels", 0, "nobody says what fits"),
        atMost("forgotten", 0, "nobody has anything forgotten"),
        atMost("muted", 0, "nobody mutes anything"),
        atMost("notices", 0, "nobody wants to be told"),
        atMost("told", 0, "nobody wants to be told"),
        atMost("weights", 1, "one a mirror"),
        atMost("pictures", 0, "no archive has files of pictures"),
        atMost("zones", 0, "nobody moves"),
        atMost("probes", 1, "what the bot's first post showed of its server"),
        atMost("findings", 0, "nobody examines it"),
        atMost("measures", 0, "nobody has its score measured"),
        atMost("proofs", 0, "nobody opens the public page"),
        atMost("push_devices", 0, "no browser is added"),
        atMost("used_addresses", 0, "no button of a notice is pressed"),
        atMost("effects", 0, "nobody probes its server or changes its profile"),
        atMost("waits", 20, "one for each account and kind of call"),
        atMost("server_rules", 20, "a line a rule of the bot's server that concerns bots"),
        atMost("posts", SoakMirror.archiveLimit, "ARCHIVE_LIMIT"),
        atMost("examples", SoakMirror.exampleLimit, "EXAMPLE_LIMIT"),
        atMost("credentials", 4, "a login and a session for each account"),
        TableRule(table: "people", reason: "whom the bot has met") { $0.people },
        TableRule(table: "feature_counts", reason: "the features of EXAMPLE_LIMIT examples") { _ in
            SoakMirror.exampleLimit * SoakMirror.featuresPerExample
        },
        atMost(
            "counters", 40,
            "a sequence, how many examples and counts there are, and calls by their duration"),
        atMost("spending", 600, "what 41 days and each month have cost on X by purpose"),
        // The last day is measured when the next has just begun.
        TableRule(table: "plans", reason: "one a day") { $0.day + 1 },
        TableRule(table: "actions", reason: "slots, mentions, and favorites within their cap") {
            world in
            world.ledger.mentions + (world.day + 1)
                * (SoakMirror.slotsPerDay + SoakMirror.favoritesPerDay)
        },
    ]
}

/// What bounds the rows of a day.
struct SoakWorld: Sendable {
    let day: Int
    /// What there was at the end of the first day.
    let first: SoakDay
    let ledger: SoakLedger
    let people: Int
}
