import CPostgres
import Foundation

/// The connection parameters of a server, or of several of which one is writable: a URL, parsed by
/// libpq's own rules.
///
/// The parts may contain a password, so the description omits them.
package struct PostgresConfiguration: Sendable {
    /// The keyword and the value of every setting that the URL gives or that has a default here,
    /// for each host of the URL.
    ///
    /// libpq supports lists of hosts itself, but with nonblocking calls it has no timeout for each
    /// host.
    let hosts: [[String: String]]
    /// The time for which the server may be silent during an exchange.
    ///
    /// The kernel notices a server that is gone; this limit is for a server that hangs.
    package var answerTimeout: Duration = .seconds(75)
    /// The longest wait for a server whose connection was lost during a commit, to ask it for the
    /// outcome.
    package var outcomeTimeout: Duration = .seconds(10)
    /// The time for which a connection of a pool may be idle before it is closed.
    package var idleTimeout: Duration = .seconds(300)

    /// The default parameters, which a URL may override: a connection without a peer ends within 30
    /// s, with and without unacknowledged data.
    private static let defaults = [
        "connect_timeout": "10", "fallback_application_name": "mirror-bot", "keepalives_idle": "10",
        "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "25000",
    ]

    /// Parses a `postgres://` or `postgresql://` URL.
    ///
    /// TLS depends on `sslmode` in the URL; without it libpq uses TLS if the server offers it.
    ///
    /// Parameters of other tools are accepted, see ``PostgresURL``.
    ///
    /// - Throws: ``PostgresError`` without any value of the URL.
    package init(url: String) throws(PostgresError) {
        var errorText: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(try PostgresURL(url).text, &errorText)
        defer {
            PQconninfoFree(options)
            PQfreemem(errorText)
        }
        // libpq's message may quote the password, so it is not used.
        guard var option = options else {
            throw PostgresError(
                .configuration,
                "the URL cannot be understood; expected postgres://user:password@host:port/name, "
                    + "with @ : / ? # & % in the password written as %40 %3A %2F %3F %23 %26 %25")
        }
        var settings = Self.defaults
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                settings[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        // A value of node-postgres that Heroku recommends, and that libpq refuses.
        if settings["sslmode"] == nil,
            ProcessInfo.processInfo.environment["PGSSLMODE"] == "no-verify"
        {
            settings["sslmode"] = "require"
        }
        // A wrong port is refused here, because libpq would notice it only at each attempt to
        // connect.
        for port in (settings["port"] ?? "").split(separator: ",") {
            if let number = UInt16(port), number > 0 { continue }
            throw PostgresError(
                .configuration,
                "the port in the URL is not a number from 1 to 65535; if the password contains : or /, write these as %3A and %2F"
            )
        }
        // Texts are sent in UTF-8, Swift's own encoding.
        settings["client_encoding"] = "UTF8"
        hosts = Self.hosts(settings)
    }

    /// The settings of each host of a list.
    ///
    /// If there are several hosts, the writable one is used, unless the URL says otherwise.
    private static func hosts(_ settings: [String: String]) -> [[String: String]] {
        let lists = ["host", "hostaddr", "port"].map { keyword in
            (
                keyword,
                settings[keyword]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
            )
        }
        let count = lists.map(\.1.count).max() ?? 1
        // libpq itself reports lists of different lengths.
        guard count > 1,
            lists.allSatisfy({ keyword, list in
                [0, count].contains(list.count) || keyword == "port" && list.count == 1
            })
        else {
            return [settings]
        }
        return (0..<count).map { index in
            var host = settings.merging(["target_session_attrs": "read-write"]) { given, _ in given
            }
            for (keyword, list) in lists where list.count == count {
                host[keyword] = list[index].isEmpty ? nil : String(list[index])
            }
            return host
        }
    }

    /// Identifies the database: the hosts and the database's name, as libpq parses them.
    package var place: String {
        let servers = hosts.compactMap { host in
            host["host"].map { name in
                (name.contains(":") ? "[\(name)]" : name) + (host["port"].map { ":\($0)" } ?? "")
            }
        }
        guard !servers.isEmpty else { return description }
        let name = hosts[0]["dbname"].map { ", database \($0)" } ?? ""
        return "PostgreSQL at \(servers.joined(separator: ", "))\(name)"
    }

    var answerMilliseconds: Int { max(1, Int(clamping: Int64(answerTimeout / .milliseconds(1)))) }

    /// The time limit for connecting to one host, in milliseconds; nil for none.
    var connectTimeoutMilliseconds: Int? {
        guard let seconds = hosts[0]["connect_timeout"].flatMap({ Int($0) }), seconds > 0 else {
            return nil
        }
        return min(seconds, 3_600) * 1_000
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package var description: String { "PostgreSQL" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
