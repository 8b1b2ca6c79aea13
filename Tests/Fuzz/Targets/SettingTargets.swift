import Conduct
import Configuration
import Foundation
import NetworkNames
import Posts

@testable import Control
@testable import Mastodon
@testable import Mirroring
@testable import Networks
@testable import Settings

/// What an operator writes.
extension FuzzTarget {
    static let settings = [dotEnv, smallForms]

    private static let dotEnv = FuzzTarget(
        "dot-env",
        texts: [
            """
            # the mirror
            MIRROR=cat
            HUMAN_SERVER=https://a.example
            HUMAN_ACCESS_TOKEN=planted-token-of-the-human
            BOT_SERVER="https://b.example:8443/"
            BOT_ACCESS_TOKEN='planted-token-of-the-bot'
            QUIET_HOURS=23:00-07:00,12:00-13:00
            TIME_ZONE=Asia/Tokyo
            DATABASE_URL=postgres://user:planted-password@h/db
            SECRET_KEY=planted-key-0123456789-0123456789
            X_BUDGET_USD_PER_MONTH=0.25
            """,
            "NETWORK=bluesky\nHUMAN_HANDLE=@A.example\nBOT_HANDLE=did:plc:b\nBOT_APP_PASSWORD=planted-app-password\n",
            "NETWORK=x\nBOT_CONSUMER_KEY=k\nBOT_CONSUMER_SECRET=s\nBOT_ACCESS_TOKEN=t\nBOT_ACCESS_TOKEN_SECRET=u\n",
            "FAVORITE_RATE_THRESHOLD=nan\nMAX_PER_DAY=+50\nMIRROR_BOT_HOME=/x\n=\n==\nA\nTIME_ZONE=../../etc/passwd\n",
        ],
        words: AnySetting.all.map { $0.name + "=" } + [
            "planted-", "https://", "\n", "\r\n", "\"", "'", "=", "#", " #", "\\", ";", "export ",
            "\u{FEFF}", "1e308",
            "Etc/../x",
            "24:00",
        ]
    ) { text in
        // What `NAME_FILE` names is not for a fuzzer to choose.
        guard !text.contains("_FILE") else { return }
        let file = DotEnv(Data(text.utf8), name: ".env")
        for message in file.problems.map(\.description) + file.warnings {
            try hold(!message.contains("planted-"), "no message shows a value")
        }
        let dotEnv = EnvironmentVariablesProvider(environmentVariables: file.variables)
        let environment = EnvironmentVariablesProvider(environmentVariables: [:])
        do {
            let values = try SettingValues(environment: environment, dotEnv: dotEnv)
            try holdQuiet("\(values)", file.variables)
            let configuration = try MirrorConfiguration(
                values, environment: ["HOME": "/home/nobody"])
            try hold(
                (1...40).contains(configuration.mirror.mirror.utf8.count),
                "a mirror has a short name")
            for role in AccountRole.allCases {
                guard let account = configuration.mirror.account(role) else { continue }
                try holdQuiet("\(account) \(account.variables)", file.variables)
                try hold(!account.host.isEmpty, "an account has a host")
            }
        } catch let error as ConfigurationError {
            try holdQuiet("\(error)", file.variables)
        }
    }

    /// No text shows the value of a secret setting.
    private static func holdQuiet(_ shown: String, _ variables: [String: String]) throws {
        for setting in AnySetting.all where setting.isSecret {
            guard let value = variables[setting.name], value.hasPrefix("planted-"),
                value.utf8.count > 16
            else {
                continue
            }
            // What is secret in one place may be none in another.
            let isOpen = AnySetting.all.contains {
                !$0.isSecret && variables[$0.name]?.contains(value) == true
            }
            if !isOpen { try holdHidden(value, in: shown) }
        }
    }

    private static let smallForms = FuzzTarget(
        "small-forms",
        texts: [
            "23:00-07:00, 12:00-13:00", "none", "24:00-1:00", "0:00-24:00", "5", "0.250000",
            "1000000.999999", "pt-BR",
            "zh-Hant-TW", "qaa",
            "und", "4.2.1+glitch", "0.17.3 GoToSocial", "delivery.claimed@3",
        ],
        words: [
            "23:00-07:00", "24:00", ",", "none", "0.", "1000000", "-Hant", "qtz", "gotosocial",
            "snac/",
        ]
    ) { text in
        if let hours = QuietHours(parsing: text) {
            try hold(
                QuietHours(parsing: hours.description) == hours, "quiet hours survive being written"
            )
        }
        if let money = Money(dollars: text) {
            try hold(
                (0...1_000_000_999_999).contains(money.microdollars), "an amount is in its range")
            try hold(money.dollars >= 0, "no amount is negative")
        }
        if LanguageTag.namesLanguage(text) {
            try hold(
                LanguageTag.isWellFormed(text) && LanguageTag.naming(text) == text,
                "a language is a tag")
            try holdPrintable(text, "a tag", atMost: 40)
        }
        let program = MastodonProgram.recognized(version: text, source: text, hasMastodonAPI: false)
        try hold(
            !program.shortensLinks.value || program == .mastodon, "only Mastodon shortens links")
    }
}
