import Foundation
import Posts

/// The frame, the styles and the content elements that all pages share.
package enum Page {
    /// A whole file.
    package static func html(title: String, subtitle: Markup, sections: [Markup]) -> String {
        let page: Markup = """
            <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
            <head>
            <meta charset="utf-8" />
            <title>\(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <meta name="referrer" content="no-referrer" />
            <meta name="robots" content="noindex" />
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
            base-uri 'none'; form-action 'none'" />
            <style>
            \(style)
            </style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p>\(subtitle)</p>
            </header>
            <main>
            \(sections)
            </main>
            </body>
            </html>

            """
        return "<!DOCTYPE html>\n" + page.text
    }

    package static func section(_ name: String, _ title: String, _ body: [Markup]) -> Markup {
        """
        <section aria-labelledby="\(name)">
        <h2 id="\(name)">\(title)</h2>
        \(body)
        </section>
        """
    }

    /// A table whose first column contains row headings; `isText` if the cells are texts and not
    /// numbers.
    package static func table(
        _ caption: String, _ headings: [String], _ rows: [[Markup]], isText: Bool = false
    )
        -> Markup
    {
        let head = headings.map { "<th scope=\"col\">\($0)</th>" as Markup }
        let body = rows.map { cells in
            let rest = cells.dropFirst().map { "<td>\($0)</td>" as Markup }
            return "<tr><th scope=\"row\">\(cells.first ?? "")</th>\(rest)</tr>" as Markup
        }
        return """
            <table\(isText ? " class=\"texts\"" as Markup : "")>
            <caption>\(caption)</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            """
    }

    /// The local time of an instant.
    static func time(_ date: Date, in zone: TimeZone) -> Markup {
        "<time datetime=\"\(date.rfc3339)\">\(LocalTime(date, in: zone).description)</time>"
    }

    private static let style: Markup = """
        :root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --human: #1f5fd6; --bot: #a3279f }
        @media (prefers-color-scheme: dark) {
        :root { --paper: #14171c; --ink: #e6edf3; --soft: #9da7b3; --line: #3a424c; --human: #79a8ff; --bot: #e88be4 }
        }
        * { box-sizing: border-box }
        body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
        h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 }
        h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-top: .5rem; border-top: 1px solid var(--line) }
        h3 { font-size: 1rem }
        p { margin: .5rem 0 }
        header p, figcaption, caption, .why, dt { color: var(--soft) }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem }
        dd { margin: 0 }
        figure { margin: 0 }
        svg { display: block; width: 100%; max-width: 34rem; height: auto }
        svg text { fill: var(--ink) }
        svg.wide { max-width: none }
        .wide .human { stroke: var(--human) }
        .wide .bot { stroke: var(--bot) }
        .wide .grid { stroke: var(--line) }
        .human { fill: var(--human) }
        .bot { fill: var(--bot) }
        .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem }
        .pair figcaption { grid-column: 1 / -1 }
        details { margin: .75rem 0 }
        summary { cursor: pointer; width: max-content; max-width: 100% }
        table { border-collapse: collapse; width: 100%; margin: .75rem 0 1.5rem; font-variant-numeric: tabular-nums }
        details table { width: auto }
        caption { text-align: start; padding: .25rem 0 }
        th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: end; vertical-align: top; font-weight: 400 }
        th:first-child, .texts td, .texts th { text-align: start }
        thead th { color: var(--soft) }
        .texts th:first-child:nth-last-child(2) { width: 36% }
        .texts td:nth-child(2):nth-last-child(2), .texts td:nth-child(3) { width: 44% }
        .said, .why { margin: 0 }
        .said { white-space: pre-line }
        code { font-size: .9em; color: var(--soft) }
        @media (max-width: 40rem) { th, td { padding: .25rem } dl { grid-template-columns: 1fr } dd { margin-bottom: .5rem } .wide text { font-size: 24px } }
        """
}
